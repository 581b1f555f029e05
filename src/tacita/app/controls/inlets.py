"""How files and pasted text get in: hidden uploaders, fed by a button, by dropping and by Ctrl+V.

NiceGUI's uploader brings the request and its limits; what users see is the screen's own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from nicegui import ui
from nicegui.events import GenericEventArguments, MultiUploadEventArguments, UploadEventArguments

from tacita.app.controls import notices

SCRIPT = Path(__file__).with_name("inlets.js")
MOST_FILES = 20
RECORDS_ZONE = "records-zone"
"""The class of the place where files are dropped as records."""
MOST_SHOWN = 100_000
"""Characters that a text field shows without delay."""


def make_file_inlet(
    on_files: Callable[[MultiUploadEventArguments], Awaitable[None]],
    on_failed: Callable[[GenericEventArguments], None],
    name: str = "upload-files",
) -> ui.upload:
    """Return a hidden uploader of the page that takes several files at once."""
    inlet = ui.upload(multiple=True, auto_upload=True, max_files=MOST_FILES, on_multi_upload=on_files)
    # Sent under their names alone, all but one of those with the same name would be lost.
    inlet.props[":field-name"] = "(file) => file.__key"
    inlet.on_rejected(lambda: notices.tell(f"too many files: choose at most {MOST_FILES} at once", "error"))
    return _hidden(inlet, name, on_failed)


def make_one_file_inlet(
    on_file: Callable[[UploadEventArguments], Awaitable[None]],
    on_failed: Callable[[GenericEventArguments], None],
    name: str,
) -> ui.upload:
    """Return a hidden uploader of the page that takes one file, or one text that is sent as a file."""
    return _hidden(ui.upload(auto_upload=True, on_upload=on_file), name, on_failed)


def make_picker_handler(files: ui.upload) -> str:
    """Return the click handler, as JavaScript for the browser, that lets the user choose files."""
    return f"() => {_uploader(files)}.pickFiles()"


def make_sending_handler(texts: ui.upload, field: str) -> str:
    """Return the click handler, as JavaScript for the browser, that uploads the text of a page's field."""
    return f"() => {_send(texts, f'document.getElementById({field!r}).value')}"


def handle_drops_and_pastes(files: ui.upload, records: ui.upload, texts: ui.upload, field: str) -> None:
    """Upload files dropped on the page, records in their own zone, and what is pasted outside of fields.

    A long text is sent at once also from the ``field`` for pasting, which would take seconds to show it.
    """
    page = ui.context.client.layout
    holds_files = "event.dataTransfer.types.includes('Files')"
    for_records = f"Boolean(event.target.closest('.{RECORDS_ZONE}'))"
    over = "document.body.classList.remove('dropping', 'dropping-records')"
    page.on(
        "dragover",
        js_handler=f"""(event) => {{
            if (!{holds_files}) return;
            event.preventDefault();
            document.body.classList.toggle('dropping', !{for_records});
            document.body.classList.toggle('dropping-records', {for_records});
        }}""",
    )
    page.on(
        "dragleave",
        js_handler=f"(event) => {{ if (!event.relatedTarget) {over}; }}",
    )
    page.on(
        "drop",
        js_handler=f"""(event) => {{
            if (!{holds_files}) return;
            event.preventDefault();
            {over};
            const inlet = {for_records} ? {_uploader(records)} : {_uploader(files)};
            inlet.addFiles([...event.dataTransfer.files]);
        }}""",
    )
    # Where nothing has the focus, only the window hears of a paste. The page brings this listener with it:
    # sent afterwards, it would miss what is pasted at once.
    ui.add_body_html(
        f"""<script>window.addEventListener('paste', (event) => {{
            const board = event.clipboardData;
            const text = board.getData('text/plain');
            const field = event.target.closest?.('input, textarea, [contenteditable]');
            if (field && !(field.id === {field!r} && text.length > {MOST_SHOWN})) return;
            event.preventDefault();
            if (text) {_send(texts, "text")};
            else if (board.files.length) {_uploader(files)}.addFiles([...board.files]);
        }});</script>"""
    )


def add_upload_bar() -> None:
    """Add to the page the bar that shows how far an upload is, while one takes longer than a moment."""
    ui.add_body_html(
        '<div id="uploading" class="uploading" data-testid="uploading" role="status" hidden>'
        '<span></span><progress max="1" aria-label="Upload"></progress></div>'
        f"<script>{SCRIPT.read_text(encoding='utf-8')}</script>"
    )


def _hidden(inlet: ui.upload, name: str, on_failed: Callable[[GenericEventArguments], None]) -> ui.upload:
    inlet.classes("inlet").props(f"data-testid={name}")
    inlet.on("uploading", js_handler=f"() => showUpload({_uploader(inlet)})")
    inlet.on(
        "failed", on_failed, js_handler="(event) => emit(event.files.map((file) => file.name).join(', '))"
    )
    return inlet


def _uploader(inlet: ui.upload) -> str:
    return f"getElement({inlet.id}).$refs.qRef"


def _send(texts: ui.upload, text: str) -> str:
    # A file without any content would not be sent, and nobody would be told that there is nothing to read.
    return f"{_uploader(texts)}.addFiles([new File([{text} || ' '], 'pasted text')])"
