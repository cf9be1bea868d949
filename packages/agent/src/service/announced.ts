import { SondeError } from '@sonde/sdk'
import { applicationLabels, LinkReader, type LinkSource } from '@sonde/sdk/internal'
import { SOURCE_COUNT, SYMBOL_COUNT, TYPE_COUNT } from './config.ts'
import type { HeldMemory } from './held-memory.ts'
import type { TypeShare } from './known-types.ts'

/** What {@link announcedBy} is given. */
export interface AnnouncedOptions {
  readonly memory: HeldMemory
  /** Memory for types, sources and symbols of this client. Unit: bytes. */
  readonly heldBytesMax: number
  /** The owner whose series a source continues; undefined for new series. Default: new series. */
  readonly ownerOf?: (told: LinkSource) => object | undefined
}

/** The announcements of a client in one connection: types, sources and their texts, by the indexes of its pages. */
export function announcedBy(share: TypeShare, { memory, heldBytesMax, ownerOf }: AnnouncedOptions): LinkReader {
  const infoOf = (told: LinkSource) => ({ ...told, labels: applicationLabels(told) })
  return new LinkReader({
    limits: { types: TYPE_COUNT, sources: SOURCE_COUNT, symbols: SYMBOL_COUNT, bytes: heldBytesMax },
    codes: { item: 'IPC_FRAME', limit: 'IPC_LIMIT' },
    origin: 'client',
    typeOf: (definition, fingerprint) => share.take(definition, fingerprint),
    hold: (beforeBytes, afterBytes) => memory.change(beforeBytes, afterBytes),
    infoOf,
    ...(ownerOf !== undefined && { ownerOf: (told) => ownerOf(infoOf(told)) }),
  })
}

/** A client that does not keep to the protocol. */
export function wrong(found: string, allowed: string): SondeError {
  return new SondeError('IPC_FRAME', `${found}; allowed: ${allowed}`)
}
