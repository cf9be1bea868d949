import type { Batch, SourceInfo } from '../schema/batch.ts'

/** Symbols that are told at once: what one turn of an event loop has time for. */
export const SYMBOLS_AT_ONCE = 2000
/** Characters of one label or text at most. */
export const TEXT_CHARACTERS_MAX = 4096
/**
 * Symbols of a source that count towards no limit: its first, with which it reports its losses, and with which a sink
 * reports those of its own and of the service.
 */
export const SYMBOLS_OF_SOURCE = 32

/** What one end puts up with from the other, in one link. */
export interface LinkLimits {
  readonly types: number
  readonly sources: number
  /** Labels of all sources together, without the first {@link SYMBOLS_OF_SOURCE} of each. */
  readonly symbols: number
  /** Memory for types, sources, labels and texts. Unit: bytes. */
  readonly bytes: number
}

/** A type that batches will refer to. */
export interface TypeItem {
  readonly kind: 'type'
  /** What batches of this link call it. */
  readonly key: number
  readonly fingerprint: string
  /** A `TypeDefinition`, once `parseDefinition` has looked at it. */
  readonly definition: unknown
}

/** Who reports. */
export type LinkSource = Pick<SourceInfo, 'id' | 'tag' | 'labels'>

/** A source that batches will refer to. */
export interface SourceItem {
  readonly kind: 'source'
  /** What batches of this link call it. */
  readonly key: number
  readonly info: LinkSource
  /**
   * The key of the source whose series this one goes on with. That source reports no more: its tables are forgotten,
   * and its key means nothing any longer.
   */
  readonly replaces?: number | undefined
}

/** A source reports no more: its tables are forgotten, and its key means nothing any longer. */
export interface GoneItem {
  readonly kind: 'gone'
  readonly source: number
}

/**
 * Symbols of a source with the ids from `firstId` on: labels below 2^30, texts of text fields from there on. Without a
 * text, an empty table of texts begins in place of the one before.
 */
export interface SymbolsItem {
  readonly kind: 'symbols'
  readonly source: number
  readonly firstId: number
  readonly texts: readonly string[]
}

/** Records. `bytes` is valid during the call. */
export interface BatchItem extends Pick<Batch, 'clock' | 'count' | 'bytes' | 'page'> {
  readonly kind: 'batch'
  readonly type: number
  readonly source: number
}

/** What goes from one end of a link to the other, in this order: whatever a batch refers to comes before it. */
export type LinkItem = TypeItem | SourceItem | GoneItem | SymbolsItem | BatchItem

/** Why the other end is not told of a batch, which is dropped. */
export type Refusal = 'type_limit' | 'source_limit' | 'symbol_limit' | 'not_announced'
