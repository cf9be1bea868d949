import type { DocaDevice } from '../../native/doca/device.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import { PhyPort } from '../../native/doca/phy.ts'
import { DocaSource } from '../doca/doca-source.ts'
import type { DocaReader } from '../doca/place.ts'
import { orMissing } from '../doca/structure-fields.ts'
import type { ChosenOrigins } from '../origins/served-value.ts'
import type { NodeSource, SourceContext } from '../source.ts'
import type { PhyOptions } from './config.ts'
import { LinkErrors } from './link-errors.ts'
import { PhyReader } from './reader.ts'
import { docaPhyLaneType, docaPhyType } from './type.ts'

/** Creates the source, in the child process that loads the library. */
export function createPhy(options: PhyOptions, context: SourceContext): NodeSource {
  const chosen: ChosenOrigins = new Map()
  const openReader = (device: DocaDevice, opened: SourceContext) => openPhy(device, opened, chosen)
  return new DocaSource(options, context, { types: [docaPhyType, docaPhyLaneType], openReader })
}

/** A device without these calls is still read: the driver counts errors of its link. */
async function openPhy(
  device: DocaDevice,
  context: SourceContext,
  chosen: ChosenOrigins,
): Promise<DocaReader | DocaFailure> {
  const port = await PhyPort.open(device)
  if (port instanceof DocaFailure && port.kind !== 'unsupported') return port
  const links = new LinkErrors(device.name, context, chosen)
  if (!(port instanceof DocaFailure)) return new PhyReader({ device: device.name, port, links }, context)
  if (await links.hasOthers(orMissing(port))) return new PhyReader({ device: device.name, port, links }, context)
  links.close()
  return port
}
