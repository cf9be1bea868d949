import { SondeError } from '@sonde/sdk'
import { applicationLabels, LinkReader } from '@sonde/sdk/internal'
import { SOURCE_COUNT, SYMBOL_COUNT, TYPE_COUNT } from './config.ts'
import type { HeldMemory } from './held-memory.ts'
import type { TypeShare } from './known-types.ts'

/**
 * What a client announces in one connection: types, sources and their texts, by the indexes of its pages.
 *
 * @param heldBytesMax Memory for types, sources and symbols of this client. Unit: bytes.
 */
export function announcedBy(share: TypeShare, memory: HeldMemory, heldBytesMax: number): LinkReader {
  return new LinkReader({
    policy: {
      symbols: 'prefix',
      limits: { types: TYPE_COUNT, sources: SOURCE_COUNT, symbols: SYMBOL_COUNT, bytes: heldBytesMax },
    },
    codes: { item: 'IPC_FRAME', limit: 'IPC_LIMIT' },
    origin: 'client',
    typeOf: (definition, fingerprint) => share.take(definition, fingerprint),
    hold: (beforeBytes, afterBytes) => memory.change(beforeBytes, afterBytes),
    infoOf: (told) => ({ ...told, labels: applicationLabels(told) }),
  })
}

/** A client that does not keep to the protocol. */
export function wrong(found: string, allowed: string): SondeError {
  return new SondeError('IPC_FRAME', `${found}; allowed: ${allowed}`)
}
