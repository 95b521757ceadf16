"""What tests of pages share."""

from browser import axe as axe
from browser import chromium as chromium
from browser import hosted as hosted
from browser import tab as tab
