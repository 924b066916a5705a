"""Checks documents against as much of JSON Schema 2020-12 as docs/schema uses."""

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int, "number": (int, float)}


def is_of(kind, value):
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def faults(schema, value, root=None, place="/"):
    """What is wrong, with its place. A keyword that is not known here is an error, so that no rule goes unchecked."""
    root = root or schema
    found = []
    for keyword, rule in schema.items():
        if keyword == "$ref":
            target = root
            for part in rule.split("/")[1:]:
                target = target[part]
            found += faults(target, value, root, place)
        elif keyword == "type":
            kinds = rule if isinstance(rule, list) else [rule]
            if not any(is_of(kind, value) for kind in kinds):
                found.append(f"{place}: {value!r} is not of type {rule}")
        elif keyword == "const" or keyword == "enum":
            if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in (rule if keyword == "enum" else [rule])):
                found.append(f"{place}: {value!r} is not {rule!r}")
        elif keyword == "required":
            found += [f"{place}: {name} is missing" for name in rule if isinstance(value, dict) and name not in value]
        elif keyword == "properties":
            for name in rule.keys() & (value if isinstance(value, dict) else {}):
                found += faults(rule[name], value[name], root, f"{place}{name}/")
        elif keyword == "additionalProperties":
            for name in (value if isinstance(value, dict) else {}).keys() - schema.get("properties", {}):
                found += [f"{place}: {name} should not be there"] if rule is False else faults(rule, value[name], root, f"{place}{name}/")
        elif keyword == "items":
            for position, item in enumerate(value if isinstance(value, list) else []):
                found += faults(rule, item, root, f"{place}{position}/")
        elif keyword not in ("$schema", "$defs", "$id", "title", "description"):
            raise ValueError(f"the schema uses {keyword}, which this check does not know")
    return found
