import { type FoundExp, readExpFolder } from '@sonde/sdk/internal'
import { ConfigError } from './config-error.ts'
import type { CommandEnvironment } from './environment.ts'
import type { Setting } from './setting.ts'

type Block = Record<string, unknown>

/**
 * Adds the destinations of `.exp` files to `export`, behind those of the file. Returns the settings that they made.
 *
 * @param originOf Origin of a value that is there already: a single block becomes the first of a list.
 * @throws ConfigError if a file has a fault.
 */
export function addExpFiles(
  raw: Block,
  environment: CommandEnvironment,
  originOf: (path: string) => string | undefined,
): Setting[] {
  const { destinations, faults } = readExpFolder(environment)
  if (faults.length > 0) throw new ConfigError(faults)
  if (destinations.length === 0) return []
  raw.export ??= {}
  // If the value is no block, the later check reports that.
  if (typeof raw.export !== 'object' || raw.export === null) return []
  const exports = raw.export as Block
  return destinations.flatMap((found) => addTo(exports, found, originOf))
}

function addTo(exports: Block, { kind, block, lines, file }: FoundExp, originOf: (path: string) => string | undefined) {
  const given = exports[kind]
  const before = Array.isArray(given) ? given : given === undefined || given === null ? [] : [given]
  exports[kind] = [...before, block]
  const moved = Array.isArray(given) ? [] : before.flatMap((each) => movedSettings(kind, each, originOf))
  const place = `${kind}[${before.length}]`
  const own = leavesOf(block).map(({ keys, value }) => {
    const path = ['export', place, ...keys]
    return { path, value, origin: `${file}:${lines.get(keys.join('.')) ?? 1}` }
  })
  return [...moved, { path: ['export', place], value: block, origin: `${file}:1` }, ...own]
}

/** The origins of a block that becomes the first of a list. */
function movedSettings(kind: string, block: unknown, originOf: (path: string) => string | undefined): Setting[] {
  return leavesOf(block).flatMap(({ keys, value }) => {
    const origin = originOf(['export', kind, ...keys].join('.'))
    return origin === undefined ? [] : [{ path: ['export', `${kind}[0]`, ...keys], value, origin }]
  })
}

/** The values of a block and of its inner blocks. */
function leavesOf(value: unknown): { readonly keys: readonly string[]; readonly value: unknown }[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const deeper = leavesOf(inner)
    if (deeper.length === 0) return [{ keys: [key], value: inner }]
    return deeper.map(({ keys, value: leaf }) => ({ keys: [key, ...keys], value: leaf }))
  })
}
