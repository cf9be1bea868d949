import { SondeError } from '@sonde/sdk'
import type { CallFailureKind } from '../call-failure.ts'
import type { DocaErrorName } from './layout.ts'

/** The meaning of an error, and advice. */
export interface Meaning {
  readonly kind: CallFailureKind
  readonly words: string
}

const FWCTL = 'the device has no fwctl node: run `sudo modprobe mlx5_fwctl`, and mount /dev/fwctl into the container'
const OLD = 'the installed DOCA is too old: it has no such call; install DOCA 3.2 or newer'
const DENIED = 'no permission on the device: run as root, or give this user /dev/fwctl/* and /dev/infiniband/*'

/** Errors that mean the same wherever they come from. */
const MEANINGS: Partial<Record<DocaErrorName, Meaning>> = {
  NOT_SUPPORTED: { kind: 'unsupported', words: 'the device or its firmware cannot do that' },
  NOT_PERMITTED: { kind: 'denied', words: DENIED },
  OPERATING_SYSTEM: { kind: 'failed', words: 'a system call failed; the kernel log says more' },
  DEVICE_FATAL_ERROR: { kind: 'gone', words: 'the device is lost; the kernel log says more' },
  DRIVER: { kind: 'failed', words: 'the firmware refused the command' },
  IN_USE: { kind: 'denied', words: 'another program holds the counters' },
  NO_MEMORY: { kind: 'failed', words: 'the device has no room for so many counters: list fewer' },
  UNEXPECTED: { kind: 'failed', words: 'what it says cannot be; another program may have set it so' },
  TOO_BIG: { kind: 'failed', words: 'a count beyond all limits is not believed; install another DOCA' },
  FULL: { kind: 'failed', words: 'the device has no room for so many counters: list fewer' },
  BAD_CONFIG: { kind: 'unsupported', words: 'the counter does not go with this way of sampling' },
}

/** Errors of the functions that ask for a capability, which are the first to reach the device. */
const OF_CAPABILITIES: Partial<Record<DocaErrorName, Meaning>> = {
  OPERATING_SYSTEM: { kind: 'denied', words: DENIED },
  NOT_FOUND: { kind: 'denied', words: FWCTL },
}

/** Errors of calls that release a device. */
const OF_CLOSING: Partial<Record<DocaErrorName, Meaning>> = {
  IN_USE: { kind: 'failed', words: 'its counters could not be released; Sonde tries again' },
}

const OF_LISTS: Partial<Record<DocaErrorName, Meaning>> = {
  NOT_FOUND: { kind: 'gone', words: 'no RDMA device is there: is mlx5_ib loaded, and /dev/infiniband mounted?' },
}

const NO_PCC = 'programmable congestion control needs a BlueField-3 or newer; a ConnectX-7 supports a part of it'
/** Adapters that support it, at least a part. */
const PCC_ADAPTERS = /^(?:BlueField-[3-9]|ConnectX-[7-9])/
/** Errors of programmable congestion control. */
const OF_PCC: Partial<Record<DocaErrorName, Meaning>> = {
  ...OF_CAPABILITIES,
  NOT_SUPPORTED: { kind: 'unsupported', words: NO_PCC },
}

/** The library starts to read an accelerator only if a process runs there. */
const OF_DPA_START: Partial<Record<DocaErrorName, Meaning>> = {
  DRIVER: { kind: 'unsupported', words: 'no process runs on the data-path accelerator; Sonde looks again' },
}

/** Errors of calls about a process on an accelerator. */
const OF_DPA: Partial<Record<DocaErrorName, Meaning>> = {
  NOT_FOUND: { kind: 'unsupported', words: 'the process has ended' },
}

const NO_WRITE =
  'no permission to configure the counters, although this user may see the device: run as root, which NVIDIA documents'
/** Errors of calls that configure diagnostic counters: they need more permission than calls that only read. */
const OF_DIAG_SETUP: Partial<Record<DocaErrorName, Meaning>> = {
  NOT_PERMITTED: { kind: 'denied', words: NO_WRITE },
  OPERATING_SYSTEM: { kind: 'denied', words: NO_WRITE },
}

/** Errors of the readings of a port. */
const OF_PHY: Partial<Record<DocaErrorName, Meaning>> = {
  NOT_CONNECTED: { kind: 'unsupported', words: 'no cable is plugged' },
}

/** Errors of the readings of a PCIe link. */
const OF_PCI: Partial<Record<DocaErrorName, Meaning>> = {
  INVALID_VALUE: {
    kind: 'unsupported',
    words:
      'the device has no such PCIe link: set `link` to a place that `mlxlink --port_type PCIE --show_links` prints',
  },
}

const OWN = [
  ['_pcc_cap_', OF_PCC],
  ['_dpa_start', OF_DPA_START],
  ['_cap_', OF_CAPABILITIES],
  ['_create_list', OF_LISTS],
  ['doca_dev_close', OF_CLOSING],
  ['_dpa_counter_', OF_DPA],
  ['_dpa_get_counter_', OF_DPA],
  ['_diag_apply_', OF_DIAG_SETUP],
  ['_diag_start', OF_DIAG_SETUP],
  ['_phy_get_', OF_PHY],
  ['_pci_read_', OF_PCI],
  ['_pci_get_', OF_PCI],
] as const

/** A call that gave nothing. Returned, not thrown: a device that refuses is an everyday thing. */
export class DocaFailure {
  readonly kind: CallFailureKind
  /** Name of the error without `DOCA_ERROR_`. */
  readonly name: DocaErrorName | 'NO_SYMBOL'
  /** What it means and what to do, without device and call. */
  readonly words: string
  /** Device, call and what the library said; fit for people. */
  readonly error: SondeError
  readonly #device: string
  readonly #call: string

  /**
   * @param call Name of the function.
   * @param meaning A more specific meaning of the error. Default: its general meaning.
   */
  constructor(device: string, call: string, name: DocaErrorName | 'NO_SYMBOL', meaning = meaningOf(call, name)) {
    this.kind = meaning?.kind ?? 'failed'
    this.name = name
    this.#device = device
    this.#call = call
    this.words = meaning?.words ?? 'for which its documentation has no reason; the kernel log may say more'
    this.error = new SondeError('SRC_CALL', `${device}: ${call} answers ${name}, ${this.words}`)
  }

  /** The same failure of a known adapter, such as `ConnectX-7`: what it lacks depends on it. */
  ofAdapter(adapter: string): DocaFailure {
    if (this.kind !== 'unsupported' || adapter === '') return this
    const words = `${this.words}; this is a ${adapter}${this.#adviceFor(adapter)}`
    return new DocaFailure(this.#device, this.#call, this.name, { kind: this.kind, words })
  }

  /** An adapter that can do more than it says may have it switched off. */
  #adviceFor(adapter: string): string {
    const isPcc = this.words === NO_PCC && PCC_ADAPTERS.test(adapter)
    return isPcc ? ': switch it on with `mlxconfig -d DEVICE set USER_PROGRAMMABLE_CC=1`, and reset the firmware' : ''
  }
}

function meaningOf(call: string, name: DocaErrorName | 'NO_SYMBOL'): Meaning | undefined {
  if (name === 'NO_SYMBOL') return { kind: 'unsupported', words: OLD }
  const [, own] = OWN.find(([part]) => call.includes(part)) ?? []
  return own?.[name] ?? MEANINGS[name]
}
