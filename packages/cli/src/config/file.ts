import { closeSync, openSync, readSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import { messageOf } from '@sonde/sdk'
import { type Document, isMap, LineCounter, parseDocument } from 'yaml'
import { ConfigError } from './config-error.ts'

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
 * @throws ConfigError where it cannot be read or is no YAML; each line names the file and the line in it.
 */
export function readConfigFile(path: string): ConfigFile {
  const lines = new LineCounter()
  const document = parseDocument(readText(path), { lineCounter: lines, uniqueKeys: true })
  const broken = [...document.errors, ...document.warnings]
  if (broken.length > 0) {
    throw new ConfigError(
      broken.map(({ linePos, message }) => {
        const [problem = ''] = message.split('\n')
        return `${path}:${linePos?.[0].line ?? 1}: ${problem.replace(/ at line \d+, column \d+:?$/, '')}`
      }),
    )
  }
  return { path, content: contentOf(document, path), lineOf: (keys) => lineOf(document, lines, keys) }
}

function contentOf(document: Document, path: string): Record<string, unknown> {
  let content: unknown
  try {
    content = document.toJS()
  } catch (cause) {
    // Aliases that name nothing, or that would unfold to millions of values.
    throw new ConfigError([`${path}: ${messageOf(cause)}`])
  }
  if (content === null) return {}
  if (!isMap(document.contents))
    throw new ConfigError([
      `${path}:1: the file holds ${Array.isArray(content) ? 'a list' : `a ${typeof content}`}; allowed: a block of keys`,
    ])
  return content as Record<string, unknown>
}

/** Text of a file or pipe, which is not read past the limit whatever it is. */
function readText(path: string): string {
  const bytes = Buffer.alloc(FILE_BYTES_LIMIT + 1)
  let length = 0
  try {
    const descriptor = openSync(path, 'r')
    try {
      for (let read = 1; read > 0 && length < bytes.length; length += read)
        read = readSync(descriptor, bytes, length, bytes.length - length, null)
    } finally {
      closeSync(descriptor)
    }
  } catch (cause) {
    const { errno } = cause as { errno?: number }
    const reason = errno === undefined ? messageOf(cause) : getSystemErrorMessage(errno)
    throw new ConfigError([`${path}: the file cannot be read: ${reason}`])
  }
  if (length > FILE_BYTES_LIMIT) throw new ConfigError([`${path}: the file is larger than ${FILE_BYTES_LIMIT} bytes`])
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length))
  } catch {
    throw new ConfigError([`${path}: the file is not UTF-8 text`])
  }
}

function lineOf(document: Document, lines: LineCounter, keys: readonly (string | number)[]): number {
  for (let length = keys.length; length > 0; length--) {
    const node = document.getIn(keys.slice(0, length), true) as { range?: [number, number, number] } | undefined
    if (node?.range !== undefined && node.range !== null) return lines.linePos(node.range[0]).line
  }
  return 1
}
