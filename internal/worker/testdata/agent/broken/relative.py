from .tools import order
