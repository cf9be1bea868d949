import { SondeError } from '@sonde/sdk'
import type { CallFailureKind } from '../call-failure.ts'
import { ERROR_NAMES } from './layout.ts'

interface Meaning {
  readonly kind: CallFailureKind
  readonly words: string
}

/** Meanings of errors, with advice. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  NO_SYMBOL: { kind: 'unsupported', words: 'the installed driver has no such call; install a newer one' },
  FUNCTION_NOT_FOUND: { kind: 'unsupported', words: 'the installed driver has no such call; install a newer one' },
  NOT_SUPPORTED: { kind: 'unsupported', words: 'the GPU does not support this, or MIG or a hypervisor hides it' },
  NO_PERMISSION: { kind: 'denied', words: 'no permission: run as root, or give this user /dev/nvidia*' },
  DRIVER_NOT_LOADED: { kind: 'gone', words: 'the NVIDIA driver is not loaded: sudo modprobe nvidia' },
  LIBRARY_NOT_FOUND: { kind: 'failed', words: 'a library that it needs is missing; install the driver again' },
  LIB_RM_VERSION_MISMATCH: {
    kind: 'failed',
    words: 'library and driver are of different versions: restart the container, or reboot after an upgrade',
  },
  GPU_IS_LOST: { kind: 'gone', words: 'the GPU has fallen off the bus; the kernel log says more, a reboot may help' },
  GPU_NOT_FOUND: { kind: 'gone', words: 'there is no such GPU' },
  RESET_REQUIRED: { kind: 'failed', words: 'the GPU must be reset: nvidia-smi --gpu-reset' },
}

/** A call that gave nothing. Returned, not thrown: a GPU that cannot do something is an everyday thing. */
export class NvmlFailure {
  readonly kind: CallFailureKind
  /** Name of the error without `NVML_ERROR_`. */
  readonly name: string
  /** Its meaning, and advice. */
  readonly words: string
  /** GPU, call and what the library said; fit for people. */
  readonly error: SondeError

  /** @param code Result of the call; undefined if the library has no such function. */
  constructor(device: string, call: string, code: number | undefined) {
    this.name = code === undefined ? 'NO_SYMBOL' : (ERROR_NAMES[code] ?? `error ${code}`)
    const meaning = MEANINGS[this.name]
    this.kind = meaning?.kind ?? 'failed'
    this.words = meaning?.words ?? 'the kernel log may say more'
    this.error = new SondeError('SRC_CALL', `${device}: ${call} answers ${this.name}, ${this.words}`)
  }
}
