import yaml_not_there.loader

def f(): pass
