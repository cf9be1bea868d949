import { join } from 'node:path'
import type { Setting } from './setting.ts'

const ORIGIN = '--data-dir'

type Block = Record<string, unknown>

/**
 * Moves everything that is kept into one folder, so that two agents of one user keep nothing in one place: history, the
 * key of the service, events, and files of records where there are any. Answers what it set.
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
  const files = isBlock(raw.export) ? raw.export.files : undefined
  if (!Array.isArray(files)) return [...settings, ...give(files, ['export', 'files', 'data_root'], join(dir, 'data'))]
  const ofList = files.flatMap((block, index) => {
    return give(
      block,
      ['export', `files[${index}]`, 'data_root'],
      join(dir, index === 0 ? 'data' : `data_${index + 1}`),
    )
  })
  return [...settings, ...ofList]
}

/** Sets the last key of a path in the block that has it; what is no block is left for the check to refuse. */
function give(block: unknown, path: readonly string[], value: string): Setting[] {
  if (!isBlock(block)) return []
  block[path.at(-1) ?? ''] = value
  return [{ path, value, origin: ORIGIN }]
}

function isBlock(value: unknown): value is Block {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
