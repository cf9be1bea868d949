import type { OptionNames } from '../config/unknown-option.ts'
import type { SchemaOptions, SchemaSourceOptions } from './config.ts'

type Block<K extends keyof SchemaOptions> = OptionNames<Exclude<SchemaOptions[K], undefined | false>>

/** Options of a schema. */
export const schemaNames: OptionNames<SchemaOptions> = {
  name: true,
  bufferBytes: true,
  export: true,
  ipc: true,
  prometheus: true,
  opaqueEvents: true,
  sinks: true,
}

/** Options of a source of a schema. */
export const sourceNames: OptionNames<SchemaSourceOptions> = {
  id: true,
  tag: true,
  labels: true,
  clock: true,
  intervalMs: true,
  flushIntervalMs: true,
  symbolLimit: true,
  rowLimit: true,
  onLoss: true,
}

const ipc: Block<'ipc'> = {
  name: true,
  socketsDir: true,
  reconnectTimeMs: true,
  reconnectTries: true,
  socketTimeoutMs: true,
  spoolBytes: true,
  slots: true,
  slotBytes: true,
  sharedDir: true,
  program: true,
}

const prometheus: Block<'prometheus'> = {
  endpoint: true,
  csetDir: true,
  fsetDir: true,
  whenTaken: true,
  timestamps: true,
  seriesExpiryS: true,
  seriesLimit: true,
  lineLimit: true,
  indexes: true,
  constantLabels: true,
  metadataFile: true,
  sysfs: true,
  sourceTags: true,
}

/** Options of the sinks that a schema opens itself. */
export const blockNames = { ipc, prometheus }
