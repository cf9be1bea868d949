import { respelled } from '../config/spelling.ts'
import { SondeError } from '../errors.ts'
import { readExpFolder } from '../exp-files/read-folder.ts'
import type { ExportOptions } from '../sinks/export-options.ts'

/** Options of destinations with those of `.exp` files behind them, and the files by key paths. */
export interface WithExpFiles {
  readonly exports: ExportOptions
  /** Replaces the key path of a destination of a file by the file. */
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
  const files = new Map<string, string>()
  for (const { kind, block, file } of destinations) {
    const { tls, ...rest } = block
    const inner = tls === undefined ? {} : { tls: respelled(tls as Readonly<Record<string, unknown>>, 'camel') }
    const own = { ...respelled(rest, 'camel'), ...inner }
    const [key = kind] = Object.keys(respelled({ [kind]: '' }, 'camel'))
    const before = exports[key] === undefined ? [] : [exports[key]].flat()
    files.set(`export.${key}[${before.length}]`, file)
    exports[key] = [...before, own]
  }
  const fileLocation = (path: string) => {
    const [place = '', ...keys] = path.split(/(?<=\])\./)
    const file = files.get(place)
    return file === undefined ? path : [file, ...keys].join(': ')
  }
  return { exports: exports as ExportOptions, fileLocation }
}
