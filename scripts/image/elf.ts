import { closeSync, globSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Arch } from './arch.ts'

const MAGIC = 0x7f454c46
/** Field `e_machine` of the header, at byte 18, as a little-endian machine writes it. */
const MACHINE: Readonly<Record<Arch, number>> = { amd64: 62, arm64: 183 }
const HEAD_BYTES = 20

/**
 * Checks that every program and library in a folder is of one architecture, and returns how many there are.
 *
 * @throws Error that names a file of another architecture.
 */
export function checkArch(folder: string, arch: Arch): number {
  const machines = globSync('**', { cwd: folder }).flatMap((path) => {
    const machine = machineOf(join(folder, path))
    return machine === undefined ? [] : [{ path, machine }]
  })
  const foreign = machines.find(({ machine }) => machine !== MACHINE[arch])
  if (foreign !== undefined) throw new Error(`${foreign.path} has the ELF machine ${foreign.machine}, not ${arch}`)
  return machines.length
}

/** The machine of a program or library; undefined for any other file. */
function machineOf(path: string): number | undefined {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined
  const head = Buffer.alloc(HEAD_BYTES)
  const file = openSync(path, 'r')
  try {
    const length = readSync(file, head)
    return length === HEAD_BYTES && head.readUInt32BE() === MAGIC ? head.readUInt16LE(18) : undefined
  } finally {
    closeSync(file)
  }
}
