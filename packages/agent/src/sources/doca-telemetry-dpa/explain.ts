import type { SourceExplain, Step } from '../chains/chain.ts'
import { fine } from '../chains/chain.ts'
import { type ChainContext, ReadRefusal } from '../chains/chain-context.ts'
import { docaExplain } from '../doca/explain.ts'
import { findDocaLibrary } from '../doca/find-library.ts'
import { commandOf } from '../doca-telemetry-diag/holder-note.ts'
import { type StartedCounter, StartNotes } from './start-notes.ts'

const UNTOLD =
  'no running Sonde has started a counter; a counter of another program is read, and never stopped or restarted'

/** The chain of all DOCA sources, with a step about the programs that started the counters of processes. */
export const dpaExplain: SourceExplain = {
  ...docaExplain,
  deviceSteps(context, device) {
    const steps = docaExplain.deviceSteps(context, device)
    return [...steps.slice(0, -1), ownershipStep(context, device), ...steps.slice(-1)]
  },
}

/** The library does not report which program started a counter. The notes of Sonde do. */
function ownershipStep(context: ChainContext, device: string): Step {
  const folder = `${context.sysfs}/class/infiniband/${device}/device`
  return {
    name: 'ownership',
    async check() {
      const address = await context.target(folder)
      const library = findDocaLibrary(context.doca_library)
      if (address instanceof ReadRefusal || typeof library === 'string') return fine(folder, UNTOLD)
      const started = StartNotes.of({ address, device, library: library.telemetry }).list()
      return fine(folder, started.map(wordsOf).join('; ') || UNTOLD)
    },
  }
}

function wordsOf({ process, pid }: StartedCounter): string {
  const starter = `\`${commandOf(pid)}\` (process ${pid})`
  return `the counter of process ${process} was started by ${starter}, which stops it at its end`
}
