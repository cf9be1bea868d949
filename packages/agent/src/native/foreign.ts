import { SondeError } from '@sonde/sdk'
import { codeFault } from '@sonde/sdk/internal'
import koffi from 'koffi'

/**
 * Number of cached call memories. A call holds its memory until its result is read, which is later than its thread is
 * free, so there are more memories than threads. Memory of further calls is mapped and unmapped each time.
 */
const KEPT_CALLS = 32

// Refused once a library is loaded, so all bindings take koffi from here.
koffi.config({ resident_async_pools: KEPT_CALLS })

/**
 * Loads a library, whose code runs at once.
 *
 * @throws SondeError `SRC_TRUST` where root must not run it; whatever the loader says.
 */
export function loadLibrary(path: string): ReturnType<typeof koffi.load> {
  const fault = codeFault(path)
  if (fault !== '') throw new SondeError('SRC_TRUST', `${path} is not loaded: ${fault}`)
  return koffi.load(path)
}

export { default } from 'koffi'
