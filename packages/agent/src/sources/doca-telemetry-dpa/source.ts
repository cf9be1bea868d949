import { Dpa } from '../../native/doca/dpa.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import { DocaSource } from '../doca/doca-source.ts'
import type { NodeSource, SourceContext } from '../source.ts'
import type { DpaOptions } from './config.ts'
import { DpaReader } from './reader.ts'
import { StartNotes } from './start-notes.ts'
import { StartedCounters } from './started-counters.ts'
import { docaDpaProcessType, docaDpaThreadType } from './type.ts'

/** Creates the source, in the child process that loads the library. */
export function createDpa(options: DpaOptions, context: SourceContext): NodeSource {
  return new DocaSource(options, context, {
    types: [docaDpaProcessType, docaDpaThreadType],
    async openReader(device, opened) {
      const dpa = await Dpa.open(device)
      if (dpa instanceof DocaFailure) return dpa
      const of = { address: await device.pciAddress(), device: device.name, library: device.library.paths.telemetry }
      const notes = StartNotes.of(of)
      return new DpaReader(device.name, dpa, new StartedCounters(dpa, notes), opened)
    },
  })
}
