import { fileURLToPath } from 'node:url'
import type { ClockState } from '../../native/clock.ts'
import { CLOCK_MODULE } from '../../places.ts'
import { Missing } from '../field-absences.ts'
import type { HostPartDefinition } from './part.ts'
import { Program } from './program.ts'
import { hostClockType } from './type.ts'

/** A clock drifts by microseconds a minute, and the kernel corrects it slowly. Unit: milliseconds. */
const EVERY_MS = 60_000
const AFTER_MS = 10_000
/** On a busy machine a process starts slowly. Unit: milliseconds. */
const LIMIT_MS = 30_000

/** How well the clock of the node is synchronised. */
export const clock: HostPartDefinition = {
  types: [hostClockType],
  create(reader) {
    const absences = reader.absences(hostClockType)
    const program = new Program(
      {
        file: process.execPath,
        args: [...process.execArgv, fileURLToPath(CLOCK_MODULE)],
        ...{ everyMs: EVERY_MS, afterMs: AFTER_MS, limitMs: LIMIT_MS },
      },
      parseClock,
    )
    return {
      sample(time) {
        const answer = program.answer()
        const state = answer && absences.settle('', answer)
        if (state === undefined) return false
        reader.context.source.report(hostClockType, { time, ...state })
        return true
      },
      close: () => program.close(),
    }
  },
}

function parseClock(output: string): ClockState | Missing {
  try {
    return JSON.parse(output) as ClockState
  } catch {
    return new Missing('failed', 'the program that asks the kernel about its clock gave no answer')
  }
}
