import { SondeError } from '@sonde/sdk'
import { FILE_PREFIX, openFileFeed } from './file-feed.ts'
import type { FeedRequest, SampleFeed } from './sample-feed.ts'

/**
 * Opens what a text of `-d` names.
 *
 * @throws SondeError `TRB_DEVICE` where it names nothing that there is; and those of the feeds.
 */
export async function openFeed(request: FeedRequest): Promise<SampleFeed> {
  if (request.device.startsWith(FILE_PREFIX)) return await openFileFeed(request)
  throw new SondeError('TRB_DEVICE', `no device ${JSON.stringify(request.device)}; allowed: file:SAMPLES`)
}
