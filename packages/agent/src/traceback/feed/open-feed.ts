import { docaTelemetryDiag } from '../../sources/doca-telemetry-diag/doca-telemetry-diag.ts'
import type { SourcePaths } from '../../sources/source.ts'
import { FILE_PREFIX, openFileFeed } from './file-feed.ts'
import { openHostFeed } from './host-feed.ts'
import type { OpenFeed } from './sample-feed.ts'

/** Where devices are searched. */
export interface FeedPaths {
  readonly paths: SourcePaths
  /** Options of the simulated node, if the device is one of its NICs. Default: real devices. */
  readonly simulated?: object
}

/**
 * Opens the device of `-d`: a file of samples, a simulated NIC, or a NIC of the DOCA libraries.
 * @throws SondeError those of the feeds.
 */
export function feedOpener({ paths, simulated }: FeedPaths): OpenFeed {
  return async (request) => {
    if (request.device.startsWith(FILE_PREFIX)) return await openFileFeed(request)
    if (simulated === undefined) {
      // The command exists for this: whoever names a device accepts the taint.
      const options = { high_frequency: true, accept_taint: true, force_ownership: request.forceOwnership }
      return await openHostFeed(request, { definition: docaTelemetryDiag, paths, options })
    }
    const { simulatorDiag } = await import('../../sources/simulator-diag/simulator-diag.ts')
    return await openHostFeed(request, { definition: simulatorDiag, paths, options: simulated })
  }
}
