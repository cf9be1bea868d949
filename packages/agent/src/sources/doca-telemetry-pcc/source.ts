import { DocaFailure } from '../../native/doca/failure.ts'
import { Pcc } from '../../native/doca/pcc.ts'
import { DocaSource } from '../doca/doca-source.ts'
import type { NodeSource, SourceContext } from '../source.ts'
import type { PccOptions } from './config.ts'
import { PccReader } from './reader.ts'
import { docaPccTypes } from './type.ts'

/** Creates the source, in the child process that loads the library. */
export function createPcc(options: PccOptions, context: SourceContext): NodeSource {
  return new DocaSource(options, context, {
    types: docaPccTypes,
    async openReader(device, opened) {
      const pcc = await Pcc.open(device)
      return pcc instanceof DocaFailure ? pcc : new PccReader(device.name, pcc, opened)
    },
  })
}
