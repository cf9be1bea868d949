import type { PodNic } from './pod-nics.ts'

/** Where a device is plugged in. */
export interface DevicePlace {
  readonly numaNode: number
  readonly socket: number
}

/** Finds places of devices; undefined if the socket is not known. */
export interface DevicePlaces {
  ofGpu(host: string, uuid: string, isSimulated: boolean): DevicePlace | undefined
  ofAddress(host: string, pciAddress: string, isSimulated: boolean): DevicePlace | undefined
}

/** A GPU of a pod, and the NIC of the pod that is closest to it. */
export interface NearestNic {
  readonly nic: PodNic
  readonly gpuPlace: DevicePlace
  readonly nicPlace: DevicePlace
  /** NICs of the pod. */
  readonly nics: number
}

/** No place is known. */
export const NO_PLACES: DevicePlaces = { ofGpu: () => undefined, ofAddress: () => undefined }

/**
 * The NIC of a pod that is closest to a GPU. Undefined if the place of the GPU is not known, or if a NIC that may be
 * closer has no known place.
 */
export function nearestNic(
  gpuPlace: DevicePlace | undefined,
  nics: readonly PodNic[],
  placeOf: (nic: PodNic) => DevicePlace | undefined,
): NearestNic | undefined {
  if (gpuPlace === undefined) return undefined
  const placed = nics.map((nic) => ({ nic, nicPlace: placeOf(nic) }))
  const near = placed.find(({ nicPlace }) => nicPlace?.socket === gpuPlace.socket)
  const isWhole = placed.every(({ nicPlace }) => nicPlace !== undefined)
  const found = near ?? (isWhole ? placed[0] : undefined)
  if (found?.nicPlace === undefined) return undefined
  return { nic: found.nic, nicPlace: found.nicPlace, gpuPlace, nics: nics.length }
}
