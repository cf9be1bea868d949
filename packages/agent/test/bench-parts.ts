import pino, { type Logger } from 'pino'
import * as v from 'valibot'
import type { ConfiguredSource, SourceDefinition } from '../src/sources/source.ts'

// What benchmarks need to run parts of the agent in their own process.

/** Writes nothing. */
export const silentLog: Logger = pino({ level: 'silent' })

/** A source with its options checked, and the defaults of those that are left out. */
export function configured(definition: SourceDefinition, options: object): ConfiguredSource {
  const { name, intervalMs } = definition
  return { name, definition, intervalMs, options: v.parse(definition.options, options) }
}
