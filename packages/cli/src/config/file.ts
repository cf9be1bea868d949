import { readFileSync } from 'node:fs'
import { messageOf, SondeError } from '@sonde/sdk'
import { type Document, isMap, LineCounter, parseDocument } from 'yaml'

const FILE_BYTES_LIMIT = 1 << 20

/** A configuration file: its content, and the line on which a key path stands. */
export interface ConfigFile {
  readonly path: string
  readonly content: Readonly<Record<string, unknown>>
  /** Line of the value at a key path, or of the nearest key above it. */
  lineOf(path: readonly (string | number)[]): number
}

/**
 * Reads and parses a YAML file.
 *
 * @throws SondeError `CFG_FILE` where it cannot be read or is no YAML; the message names file and line.
 */
export function readConfigFile(path: string): ConfigFile {
  const lines = new LineCounter()
  const document = parseDocument(readText(path), { lineCounter: lines, uniqueKeys: true, maxAliasCount: 100 } as object)
  const broken = document.errors[0]
  if (broken !== undefined) {
    const line = broken.linePos?.[0].line ?? 1
    throw new SondeError('CFG_FILE', `${path}:${line}: ${broken.message.split('\n')[0]?.replace(/ at line .*/, '')}`)
  }
  const content: unknown = document.toJS()
  if (content !== null && !isMap(document.contents)) {
    throw new SondeError('CFG_FILE', `${path}:1: the file holds ${typeof content}; allowed: a block of keys`)
  }
  return {
    path,
    content: (content ?? {}) as Record<string, unknown>,
    lineOf: (keys) => lineOf(document, lines, keys),
  }
}

function readText(path: string): string {
  try {
    const bytes = readFileSync(path)
    if (bytes.length > FILE_BYTES_LIMIT)
      throw new SondeError('CFG_FILE', `${bytes.length} bytes; at most ${FILE_BYTES_LIMIT}`)
    return bytes.toString('utf8')
  } catch (cause) {
    throw new SondeError('CFG_FILE', `${path}: cannot be read: ${messageOf(cause)}`, { cause })
  }
}

function lineOf(document: Document, lines: LineCounter, keys: readonly (string | number)[]): number {
  for (let length = keys.length; length > 0; length--) {
    const node = document.getIn(keys.slice(0, length), true) as { range?: [number, number, number] } | undefined
    if (node?.range !== undefined && node.range !== null) return lines.linePos(node.range[0]).line
  }
  return 1
}
