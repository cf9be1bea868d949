import type { LinkItem } from '../../link/item.ts'
import { splitSymbols } from '../../wire/ipc/encode.ts'
import type { ClientMessage } from '../../wire/ipc/frame.ts'

/** An item as the messages in which a client tells it. Batches go as pages, and the client's sources never leave. */
export function* messagesOf(item: LinkItem, schema: string): Generator<ClientMessage> {
  if (item.kind === 'type') {
    const { key, fingerprint, definition } = item
    yield { kind: 'types', body: [{ index: key, fingerprint, definition }] }
  } else if (item.kind === 'source') {
    const { key, info, replaces } = item
    yield { kind: 'source', body: { index: key, ...info, schema, ...(replaces !== undefined && { replaces }) } }
  } else if (item.kind === 'symbols') {
    const { kind, ...body } = item
    if (body.texts.length === 0) yield { kind, body }
    else yield* splitSymbols(body)
  }
}
