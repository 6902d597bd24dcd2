"""kgrag completion: the script that teaches a shell to complete kgrag's commands."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    eval "$(kgrag completion bash)"                                   # in ~/.bashrc
    eval "$(kgrag completion zsh)"                                    # in ~/.zshrc
    kgrag completion fish > ~/.config/fish/completions/kgrag.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None, "click completes these three shells"
    click.echo(kind(ctx.find_root().command, {}, "kgrag", "_KGRAG_COMPLETE").source())
