"""Renders conversations by a chat template, as transformers does."""

from transformers.utils.chat_template_utils import render_jinja_template


def render(template, messages, options):
    """The prompt of a conversation; template is a file, options are those of chat.json."""
    with open(template, encoding="utf-8") as f:
        source = f.read()
    options = {"add_generation_prompt": True} | options
    rendered, _ = render_jinja_template([messages], chat_template=source, bos_token="<bos>", **options)
    return rendered[0]
