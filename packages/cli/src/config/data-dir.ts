import { join } from 'node:path'
import type { Setting } from './setting.ts'

const ORIGIN = '--data-dir'

type Block = Record<string, unknown>

/**
 * Moves all kept data below one folder, so that two agents of one user share no folder: history, the key of the
 * service, events, and record files if there are any. Returns the settings that it changed.
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

/** Sets the last key of a path in its block. If the parent is no block, the later check reports that. */
function give(block: unknown, path: readonly string[], value: string): Setting[] {
  if (!isBlock(block)) return []
  block[path.at(-1) ?? ''] = value
  return [{ path, value, origin: ORIGIN }]
}

function isBlock(value: unknown): value is Block {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
