// Which room may import which, and what pure code may not import at all.

import { basename } from 'node:path'
import { type Import, resolveImport, type SourceFile } from './sources.ts'

const ROOMS = { sdk: '@sonde/sdk', agent: '@sonde/agent', console: '@sonde/console', cli: 'sonde' }

type RoomName = keyof typeof ROOMS

/** The rooms that each room may import. */
const ALLOWED: Record<RoomName, readonly RoomName[]> = {
  sdk: [],
  agent: ['sdk'],
  console: ['sdk'],
  cli: ['sdk', 'agent', 'console'],
}

const IO_MODULES =
  /^node:(child_process|cluster|dgram|dns|fs|http|http2|https|inspector|net|readline|sqlite|tls|tty|worker_threads)(\/|$)/

/** Every import and call that goes against the house plan, as `file:line: what is wrong`. */
export function findArrowFaults(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => [
    ...file.imports.flatMap((entry) =>
      [roomFault(file, entry), codecFault(file, entry), pageFault(file, entry)]
        .filter((fault) => fault !== undefined)
        .map((fault) => `${file.path}:${entry.line}: ${fault}`),
    ),
    ...exitFaults(file),
  ])
}

function roomFault(file: SourceFile, { specifier }: Import): string | undefined {
  const from = roomOfPath(file.path)
  const path = resolveImport(file, specifier)
  const to = roomOfPath(path) ?? roomOfPackage(path)
  if (from === undefined || to === undefined || from === to) return undefined
  if (!ALLOWED[from].includes(to)) return `${from} may not import ${to}`
  // What only tests use is not exported: `packages/NAME/test` is reached by its path.
  if (isTest(file) && path.startsWith(`packages/${to}/test/`)) return undefined
  return specifier.startsWith('.') ? `import ${ROOMS[to]} by its name, not by a path` : undefined
}

/** Encoders and parsers take and give bytes or values; who reads and sends is somebody else. */
function codecFault(file: SourceFile, { specifier }: Import): string | undefined {
  const isCodec = /\/wire\//.test(file.path) || ['parse.ts', 'encode.ts'].includes(basename(file.path))
  return isCodec && !isTest(file) && IO_MODULES.test(specifier) ? `a codec does no I/O: ${specifier}` : undefined
}

function pageFault(file: SourceFile, { specifier }: Import): string | undefined {
  const isPage = file.path.startsWith('packages/console/web/') && !isTest(file)
  return isPage && specifier.startsWith('node:') ? `a browser has no ${specifier}` : undefined
}

function exitFaults(file: SourceFile): string[] {
  if (isTest(file) || /(^|-)main\.ts$/.test(basename(file.path))) return []
  return file.text
    .split('\n')
    .flatMap((line, index) =>
      /^\s*(\/\/|\/?\*)/.test(line) || !/\bprocess\.exit\(/.test(line)
        ? []
        : [`${file.path}:${index + 1}: only a main file may call process.exit`],
    )
}

function isTest(file: SourceFile): boolean {
  return /\.test\.tsx?$/.test(file.path)
}

function roomOfPath(path: string): RoomName | undefined {
  const room = /^packages\/([^/]+)\//.exec(path)?.[1]
  return room !== undefined && room in ROOMS ? (room as RoomName) : undefined
}

function roomOfPackage(specifier: string): RoomName | undefined {
  const rooms = Object.entries(ROOMS) as [RoomName, string][]
  return rooms.find(([, name]) => specifier === name || specifier.startsWith(`${name}/`))?.[0]
}
