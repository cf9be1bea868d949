import { join } from 'node:path'
import { hasQueue, SINKS, usualName } from '@sonde/sdk/internal'
import type { Setting } from './setting.ts'

const ORIGIN = '--data-dir'

type Block = Record<string, unknown>

/**
 * Moves all kept data below one folder, so that two agents of one user share no folder: history, the key of the
 * service, events, and record files and queues if there are any. Returns the settings that it changed.
 */
export function moveData(raw: Block, dir: string): Setting[] {
  const places = [
    { key: 'store', value: dir },
    { key: 'service', value: dir },
    { key: 'traceback', value: join(dir, 'traceback') },
  ]
  const settings = places.flatMap(({ key, value }) => {
    raw[key] ??= {}
    return give(raw[key], [key, 'dir'], value)
  })
  const exports = isBlock(raw.export) ? raw.export : {}
  for (const definition of SINKS) {
    const { name: kind } = definition
    if (kind !== 'files' && !hasQueue(definition)) continue
    const given = exports[kind]
    for (const [index, block] of (Array.isArray(given) ? given : [given]).entries()) {
      const place = Array.isArray(given) ? `${kind}[${index}]` : kind
      const name = isBlock(block) && typeof block.name === 'string' ? block.name : usualName(definition, index)
      const [key, value] =
        kind === 'files'
          ? ['data_root', join(dir, index === 0 ? 'data' : `data_${index + 1}`)]
          : ['queue_dir', join(dir, 'queues', name)]
      settings.push(...give(block, ['export', place, key], value))
    }
  }
  return settings
}

/** Sets the last key of a path in its block. If the parent is no block, the later check reports that. */
function give(block: unknown, path: readonly string[], value: string): Setting[] {
  if (!isBlock(block)) return []
  block[path.at(-1) ?? ''] = value
  return [{ path, value, origin: ORIGIN }]
}

function isBlock(value: unknown): value is Block {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
