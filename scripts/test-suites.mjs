// The main module of a process of tests. Each file is a suite of that name: several files share the cost of one start,
// and each keeps its own hooks and results.

import { appendFileSync, readFileSync } from 'node:fs'
import { after, suite } from 'node:test'
import { pathToFileURL } from 'node:url'
import { endAll } from './test-end.ts'

/** Ticks of the processor in a second, as `/proc` counts them. */
const TICKS_PER_S = 100
/** A file that gets a line of processor seconds for each test file, and for what the files shared. Default: none. */
const TIMES = process.env.SONDE_TEST_TIMES

let endedS = 0
const files = JSON.parse(process.env.SONDE_TEST_FILES ?? '[]')
for (const file of files) {
  await suite(file, async () => {
    if (TIMES) after(() => writeTime(TIMES, file))
    await import(pathToFileURL(file).href)
  })
}
await endAll()
// Programs that the files shared have ended only now.
if (TIMES) writeTime(TIMES, `what these files shared: ${files.join(' ')}`)

/** The first file of a process bears the cost of its start. */
function writeTime(times, what) {
  const nowS = processorSeconds()
  appendFileSync(times, `${(nowS - endedS).toFixed(2)} ${what}\n`)
  endedS = nowS
}

/** Processor time of this process and of its children that have ended. */
function processorSeconds() {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // The name of the program stands in parentheses, and may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_S
}
