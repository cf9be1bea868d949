import { existsSync, readdirSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { messageOf, SondeError } from '../errors.ts'
import { readTextFileNow } from '../internal/text-file.ts'
import { type ExpDestination, expDestination } from './destination.ts'
import { parseExp } from './parse.ts'

/** The vendor's folder, for an environment without `FLUENT_BIT_CONFIG_DIR`. */
const VENDOR_EXP_DIR = '/opt/mellanox/doca/services/telemetry/config/fluent_bit_configs/'

const FILE_BYTES_LIMIT = 64 << 10
const FILE_COUNT_LIMIT = 64

/** A destination of a `.exp` file, and where it stands. */
export interface FoundExp extends ExpDestination {
  readonly file: string
}

/** The destinations of a folder, or its faults, a line each with file and line. */
export interface ExpFolder {
  readonly destinations: readonly FoundExp[]
  readonly faults: readonly string[]
}

/**
 * The destinations of the `*.exp` files that `FLUENT_BIT_EXPORT_ENABLE=1` and `FLUENT_BIT_CONFIG_DIR` ask for. Without
 * the first variable there are none.
 */
export function readExpFolder(environment: Readonly<Record<string, string | undefined>>): ExpFolder {
  const { FLUENT_BIT_EXPORT_ENABLE: enable = '', FLUENT_BIT_CONFIG_DIR: given = '' } = environment
  if (enable === '' || enable === '0') return { destinations: [], faults: [] }
  if (enable !== '1') return faulty(`FLUENT_BIT_EXPORT_ENABLE is ${JSON.stringify(enable)}; allowed: 1, 0`)
  if (given === '' && !existsSync(VENDOR_EXP_DIR))
    return faulty('FLUENT_BIT_EXPORT_ENABLE is 1 and FLUENT_BIT_CONFIG_DIR is not set; allowed: a folder of .exp files')
  return readFolder(given === '' ? VENDOR_EXP_DIR : given)
}

function readFolder(dir: string): ExpFolder {
  let names: string[]
  try {
    names = readdirSync(dir).filter((name) => name.endsWith('.exp'))
  } catch (error) {
    return faulty(`FLUENT_BIT_CONFIG_DIR is ${dir}, which cannot be read: ${messageOf(error)}`)
  }
  if (names.length > FILE_COUNT_LIMIT)
    return faulty(`${dir} has ${names.length} .exp files; allowed: at most ${FILE_COUNT_LIMIT}`)
  const destinations: FoundExp[] = []
  const faults: string[] = []
  for (const file of names.sort().map((name) => join(dir, name))) {
    try {
      const { destination, faults: ofFile } = expDestination(parseExp(expFileText(file)), file, (path) =>
        linesOf(dir, path),
      )
      faults.push(...ofFile.map(({ line, words }) => `${file}:${line}: ${words}`))
      if (destination !== undefined) destinations.push({ ...destination, file })
    } catch (error) {
      faults.push(messageOf(error))
    }
  }
  return { destinations, faults }
}

/** The lines of a field set, without comments at the start, so that a section comes first. */
function linesOf(dir: string, path: string): readonly string[] | string {
  try {
    const lines = expFileText(isAbsolute(path) ? path : join(dir, path)).split(/\r?\n/)
    const start = lines.findIndex((line) => !/^\s*(?:#|$)/.test(line))
    return start < 0 ? [] : lines.slice(start)
  } catch (error) {
    return messageOf(error)
  }
}

/** A ConfigMap is a folder of links, so links are followed. */
function expFileText(path: string): string {
  const fault = (_: 'read' | 'limit', why: string, cause?: unknown) =>
    new SondeError('FLB_FILE', `${path} ${why}`, { cause })
  return readTextFileNow({ path, limitBytes: FILE_BYTES_LIMIT, fault })
}

function faulty(words: string): ExpFolder {
  return { destinations: [], faults: [words] }
}
