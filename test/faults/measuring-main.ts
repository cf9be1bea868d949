// The command, with the longest turn of its main loop since SIGUSR2 in the file that SONDE_TEST_TURN names. Unit:
// seconds of the processor: those of the clock are longer where the machine runs much else.
import { writeFileSync } from 'node:fs'
import { SONDE_MAIN } from '../sonde-program.ts'

/** What is measured are whole turns: several together where they take less than this. Unit: milliseconds. */
const LOOK_EVERY_MS = 1

const file = process.env.SONDE_TEST_TURN
if (file === undefined) throw new Error('SONDE_TEST_TURN names no file')
let longestS = 0
let beforeS = 0

function cpuSeconds(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1e6
}

function look(path: string): void {
  const turnS = cpuSeconds() - beforeS
  if (turnS > longestS) {
    longestS = turnS
    writeFileSync(path, String(longestS))
  }
  beforeS = cpuSeconds()
  setTimeout(look, LOOK_EVERY_MS, path).unref()
}

process.once('SIGUSR2', () => {
  beforeS = cpuSeconds()
  look(file)
})
await import(SONDE_MAIN)
