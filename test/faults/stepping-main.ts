// The command with a wall clock that steps: at SIGUSR2 it is as many milliseconds off as the file in SONDE_TEST_CLOCK
// says. The monotonic clock goes on, as in a kernel.
import { readFileSync } from 'node:fs'
import { SONDE_MAIN } from '../sonde-program.ts'

const file = process.env.SONDE_TEST_CLOCK
if (file === undefined) throw new Error('SONDE_TEST_CLOCK names no file')
const now = Date.now.bind(Date)
let offsetMs = 0
Date.now = () => now() + offsetMs
process.on('SIGUSR2', () => {
  offsetMs = Number(readFileSync(file, 'utf8'))
})
await import(SONDE_MAIN)
