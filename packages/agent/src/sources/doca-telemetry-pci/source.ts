import { DocaFailure } from '../../native/doca/failure.ts'
import { PciPort } from '../../native/doca/pci.ts'
import { DocaSource } from '../doca/doca-source.ts'
import type { NodeSource, SourceContext } from '../source.ts'
import { type PciOptions, placeOf } from './config.ts'
import { LatencyTypes } from './latency-buckets.ts'
import { PciReader } from './reader.ts'
import { docaPciLatencyType, docaPciType } from './type.ts'

/** Creates the source, in the child process that loads the library. */
export function createPci(options: PciOptions, context: SourceContext): NodeSource {
  const types = new LatencyTypes()
  return new DocaSource(options, context, {
    types: [docaPciType, docaPciLatencyType],
    async openReader(device, opened) {
      const port = await PciPort.open(device, placeOf(options.link))
      if (port instanceof DocaFailure) return port
      return new PciReader({ device: device.name, place: options.link, port, types }, opened)
    },
  })
}
