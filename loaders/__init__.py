"""Source formats -> Documents: texts, pages, books, office files, e-mails, rows of tables, and folders of them."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
