"""What tests of the studio share."""

from browser import axe as axe
from browser import chromium as chromium
