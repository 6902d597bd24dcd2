"""kgrag enrich schema: what the facts of a collection are held to."""

from pathlib import Path

import click

from kgrag.cli.connect import as_json, choose_collection, collection_option, connect
from kgrag.cli.console import note, number, print_json
from kgrag.values.errors import NotFoundError


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@collection_option()
@click.option("--propose", is_flag=True, help="Have a language model propose a schema, to be edited, in one call.")
@click.option(
    "--sample", default=20, show_default=True, type=click.IntRange(1, 200), help="Passages that --propose shows it."
)
@click.option("--remove", is_flag=True, help="Take the schema off; the next `extract` reads all passages without it.")
@as_json
def schema(file: Path | None, collection: str | None, propose: bool, sample: int, remove: bool, as_json: bool) -> None:
    """Show, set, propose or remove the schema of facts of a collection.

    FILE is a TOML or JSON file with types of entities and predicates between them. `kgrag enrich extract` then asks for
    these alone; it drops and counts facts outside the schema. Entities get their types as labels, and facts become
    relationships beside their Triple nodes: (:Person)-[:BORN_IN]->(:Place). `kgrag inspect` lists the dropped facts.
    Passages that were extracted before are read again.

    \b
    kgrag enrich schema -c work --propose > schema.toml      a proposal to edit
    kgrag enrich schema schema.toml -c work                  set it; then: kgrag enrich extract -c work
    kgrag enrich schema -c work                              print the schema in force
    kgrag enrich schema -c work --remove
    """
    if sum([file is not None, propose, remove]) > 1:
        raise click.UsageError("Give a FILE, --propose or --remove: one of them.")
    with connect() as kg:
        name = choose_collection(kg, collection)
        work = kg[name]
        if file is not None or remove:
            current = work.set_fact_schema(file)
            if current is not None:
                types, predicates = number(len(current.types), "type"), number(len(current.predicates), "predicate")
                note(f"{types} and {predicates} are in force.")
            note(f"The next `kgrag enrich extract -c {name}` reads all passages again; --dry-run says what it costs.")
        elif propose:
            current = work.propose_fact_schema(sample=sample)
        else:
            current = work.fact_schema()
            if current is None:
                raise NotFoundError(
                    f"Collection {name!r} has no schema of facts.",
                    f"Have one proposed: kgrag enrich schema -c {name} --propose > schema.toml",
                )
    if as_json:
        print_json({"collection": name, "schema": current and current.model_dump(by_alias=True, exclude_defaults=True)})
    elif current is not None and file is None:
        click.echo(current.to_toml(), nl=False)
