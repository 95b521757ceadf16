"""What tests of the report's page share."""

from browser import axe as axe
from browser import chromium as chromium
