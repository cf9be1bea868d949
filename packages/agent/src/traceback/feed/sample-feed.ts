import type { DeviceRing } from './device-ring.ts'

/** What is known of a device when its sampling has started. */
export interface FeedInfo {
  /** What the device is called in the log. */
  readonly device: string
  /** What is actual; a device may lengthen what was asked for. Unit: nanoseconds. */
  readonly samplePeriodNs: number
  /** `rtc`: seconds and nanoseconds. `ticks`: the device runs free, and times are those of the host. */
  readonly clock: 'rtc' | 'ticks'
}

/** What a feed is opened with. */
export interface FeedRequest {
  /** The text of `-d`. */
  readonly device: string
  /** In the order in which a sample of the ring has their values. */
  readonly dataIds: readonly bigint[]
  /** Wanted. Unit: nanoseconds. */
  readonly samplePeriodNs: number
  /** Samples that the device should keep until they are read, at least. */
  readonly bufferSamples: number
  readonly forceOwnership: boolean
  /** Whether anything else than was asked for is an error, as it is for the reference application. */
  readonly isExact: boolean
}

/** Samples of one device, in their order. */
export interface SampleFeed {
  readonly info: FeedInfo
  /**
   * Puts the next samples into a ring, at most `limit`. Waits a while where there are none yet, and comes back at once
   * when `stop` is aborted.
   *
   * @returns How many; `end` if there will be no more.
   * @throws SondeError if the device is gone, or refuses.
   */
  read(ring: DeviceRing, limit: number, stop: AbortSignal): Promise<number | 'end'>
  /** Stops the sampling. May be called twice. */
  close(): Promise<void>
}

/**
 * Opens the samples of a device.
 *
 * @throws SondeError `TRB_DENIED` without the rights that the device needs, `TRB_DEVICE` if it is not there or
 * cannot do what is asked for.
 */
export type OpenFeed = (request: FeedRequest) => Promise<SampleFeed>
