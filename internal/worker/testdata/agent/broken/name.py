import os

VALUE = undefined_name

def f(): pass
