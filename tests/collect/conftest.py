"""What tests of pages share."""

from browser import axe as axe
from browser import chromium as chromium
