import { respelled, snakeOf } from '../config/spelling.ts'
import { SondeError } from '../errors.ts'
import { type FoundExp, readExpFolder } from '../exp-files/read-folder.ts'
import type { ExportOptions } from '../sinks/export-options.ts'

/** Options of destinations with those of `.exp` files behind them, and the files by key paths. */
export interface WithExpFiles {
  readonly exports: ExportOptions
  /** Replaces the key path of a destination of a file by the file, the line and the key. */
  readonly fileLocation: (path: string) => string
}

/**
 * Adds the destinations of the `.exp` files that the environment names to those of a program.
 *
 * @throws SondeError `TEL_OPTION` if a file has a fault.
 */
export function withExpFiles(schema: string, given: ExportOptions): WithExpFiles {
  const { destinations, faults } = readExpFolder(process.env)
  if (faults.length > 0) throw new SondeError('TEL_OPTION', `schema ${schema}: ${faults.join('\n')}`)
  const exports: Record<string, unknown> = { ...given }
  const files = new Map<string, FoundExp>()
  for (const found of destinations) {
    const { kind, block } = found
    const { tls, ...rest } = block
    const inner = tls === undefined ? {} : { tls: respelled(tls as Readonly<Record<string, unknown>>, 'camel') }
    const own = { ...respelled(rest, 'camel'), ...inner }
    const [key = kind] = Object.keys(respelled({ [kind]: '' }, 'camel'))
    const before = exports[key] === undefined ? [] : [exports[key]].flat()
    files.set(`export.${key}[${before.length}]`, found)
    exports[key] = [...before, own]
  }
  const fileLocation = (path: string) => {
    const [place = '', ...keys] = path.split(/(?<=\])\./)
    const found = files.get(place)
    if (found === undefined) return path
    const key = snakeOf(keys.join('.'))
    return `${found.file}:${lineOf(found, key)}: ${key}`
  }
  return { exports: exports as ExportOptions, fileLocation }
}

/** The line of a key or of the block around it; line 1 for a key that the file does not have. */
function lineOf({ lines }: FoundExp, key: string): number {
  for (let at = key; at !== ''; at = at.slice(0, Math.max(0, at.search(/[.[][^.[]*$/)))) {
    const line = lines.get(at)
    if (line !== undefined) return line
  }
  return 1
}
