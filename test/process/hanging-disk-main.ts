// The command with a disk that hangs: below the folder SONDE_TEST_DISK no file is opened before somebody opens the FIFO
// SONDE_TEST_GATE to write. A call that waits keeps its thread, as with a real disk.
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { SONDE_MAIN } from '../sonde-program.ts'

const { SONDE_TEST_DISK: disk, SONDE_TEST_GATE: gate } = process.env
if (disk === undefined || gate === undefined) throw new Error('SONDE_TEST_DISK or SONDE_TEST_GATE is missing')
const open = fs.open
fs.open = async (path, ...rest) => {
  if (String(path).startsWith(disk)) await (await open(gate, 'r')).close()
  return open(path, ...rest)
}
syncBuiltinESMExports()
await import(SONDE_MAIN)
