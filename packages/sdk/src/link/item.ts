import type { Batch, SourceInfo } from '../schema/batch.ts'

/** Symbols of one item at most: the work of one turn of an event loop. */
export const SYMBOLS_AT_ONCE = 2000
/** Characters of one label or text at most. */
export const TEXT_CHARACTERS_MAX = 4096
/**
 * The first symbols of a source count towards no limit. With these, the source, the sink and the service report losses.
 */
export const SYMBOLS_OF_SOURCE = 32

/** Limits of one end of a link for the data of its peer. */
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
  /** Its number in the batches of this link. */
  readonly key: number
  readonly fingerprint: string
  /** A `TypeDefinition`, after `parseDefinition` has checked it. */
  readonly definition: unknown
}

/** The identity of a source. */
export type LinkSource = Pick<SourceInfo, 'id' | 'tag' | 'labels'>

/** A source that batches will refer to. */
export interface SourceItem {
  readonly kind: 'source'
  /** Its number in the batches of this link. */
  readonly key: number
  readonly info: LinkSource
  /**
   * The key of the source whose series this source continues. The earlier source has ended: the reader discards its
   * tables and its key.
   */
  readonly replaces?: number | undefined
}

/** A source has ended: the reader discards its tables and its key. */
export interface GoneItem {
  readonly kind: 'gone'
  readonly source: number
}

/**
 * Symbols of a source with ascending ids from `firstId`: labels below 2^30, texts of text fields above. An item without
 * texts starts a new table of texts, which replaces the earlier table.
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

/** An item of a link. A type, a source or a symbol is announced before the first batch that refers to it. */
export type LinkItem = TypeItem | SourceItem | GoneItem | SymbolsItem | BatchItem

/** Why a batch cannot be announced and is dropped. */
export type Refusal = 'type_limit' | 'source_limit' | 'symbol_limit' | 'not_announced'
