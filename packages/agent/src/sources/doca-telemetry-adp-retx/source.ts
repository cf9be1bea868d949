import { type RecordType, SondeError } from '@sonde/sdk'
import { AdpRetxHistogram, edgesOf, type HistogramShape, histogramLimits } from '../../native/doca/adp-retx.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import { DocaSource } from '../doca/doca-source.ts'
import type { OpenReader } from '../doca/place.ts'
import type { ChosenOrigins } from '../origins/served-value.ts'
import type { NodeSource, SourceContext } from '../source.ts'
import type { AdpRetxOptions } from './config.ts'
import { DriverCounter } from './driver-counter.ts'
import { AdpRetxReader } from './reader.ts'
import { wantedShape } from './shape.ts'
import { docaAdpRetxTimeoutsType, timeoutsType } from './type.ts'

/** Highest number of different sets of bins over all devices. Each set is a type. */
const SHAPES_MAX = 32

/** Creates the source, in the child process that loads the library. */
export function createAdpRetx(options: AdpRetxOptions, context: SourceContext): NodeSource {
  return new DocaSource(options, context, { types: [docaAdpRetxTimeoutsType], openReader: readerOpener() })
}

/** Devices with equal bins share a type. */
function readerOpener(): OpenReader {
  const chosen: ChosenOrigins = new Map()
  const types = new Map([[docaAdpRetxTimeoutsType.fingerprint, docaAdpRetxTimeoutsType]])
  const typeOf = (shape: HistogramShape): RecordType => {
    const type = timeoutsType(edgesOf(shape))
    const known = types.get(type.fingerprint)
    if (known !== undefined) return known
    if (types.size >= SHAPES_MAX)
      throw new SondeError('SRC_READ', `the bins of histograms were changed ${SHAPES_MAX} times; start Sonde again`)
    types.set(type.fingerprint, type)
    return type
  }
  return async (device, context) => {
    const limits = await histogramLimits(device)
    if (limits instanceof DocaFailure) return limits
    const shape = wantedShape(limits)
    if (shape === undefined) return new DocaFailure(device.name, 'doca_telemetry_adp_retx_create', 'NOT_SUPPORTED')
    const histogram = await AdpRetxHistogram.open(device, shape, limits.maxBins)
    if (histogram instanceof DocaFailure) return histogram
    const driver = new DriverCounter(device.name, context.paths.sysfs)
    return new AdpRetxReader({ device: device.name, histogram, driver, chosen, typeOf }, context)
  }
}
