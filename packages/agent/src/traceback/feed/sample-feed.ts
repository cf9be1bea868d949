import type { DeviceRing } from './device-ring.ts'

/** Facts about a device after the start of its sampling. */
export interface FeedInfo {
  /** Name of the device in the log. */
  readonly device: string
  /** The actual period; a device may use a longer period than requested. Unit: nanoseconds. */
  readonly samplePeriodNs: number
  /** `rtc`: seconds and nanoseconds. `ticks`: a free-running clock; times are those of the host. */
  readonly clock: 'rtc' | 'ticks'
}

/** Request for the samples of a device. */
export interface FeedRequest {
  /** The text of `-d`. */
  readonly device: string
  /** In the order of the values in the ring's samples. */
  readonly dataIds: readonly bigint[]
  /** The requested period. Unit: nanoseconds. */
  readonly samplePeriodNs: number
  /** Fewest samples that the device should buffer until they are read. */
  readonly bufferSamples: number
  readonly forceOwnership: boolean
  /** Whether any difference from the request is an error, as in the reference application. */
  readonly isExact: boolean
}

/** Samples of one device, in their order. */
export interface SampleFeed {
  readonly info: FeedInfo
  /**
   * Puts the next samples into a ring, at most `limit`. Waits a while if there are none yet. Returns at once when
   * `stop` is aborted.
   * @returns The number of samples; `end` if no more will come.
   * @throws SondeError if the device is gone or refuses.
   */
  read(ring: DeviceRing, limit: number, stop: AbortSignal): Promise<number | 'end'>
  /** Stops the sampling. May be called twice. */
  close(): Promise<void>
}

/**
 * Opens the samples of a device.
 * @throws SondeError `TRB_DENIED` without the required permissions, `TRB_DEVICE` if the device is absent or cannot
 * fulfil the request.
 */
export type OpenFeed = (request: FeedRequest) => Promise<SampleFeed>
