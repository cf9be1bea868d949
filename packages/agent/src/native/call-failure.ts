import { type AbsenceCode, SondeError } from '@sonde/sdk'

/** The kind of a failed call: no such device, not supported, not permitted, or a failure. */
export type CallFailureKind = Exclude<AbsenceCode, 'not_sampled'>

const KINDS: Readonly<Record<string, CallFailureKind>> = {
  ENODEV: 'gone',
  ENXIO: 'gone',
  EOPNOTSUPP: 'unsupported',
  ENOTSUP: 'unsupported',
  ENOTTY: 'unsupported',
  ENOSYS: 'unsupported',
  EINVAL: 'unsupported',
  EPERM: 'denied',
  EACCES: 'denied',
  // The kernel's own word for it, which drivers let slip through and which has no name outside.
  E524: 'unsupported',
}

/** A call that gave nothing. Returned, not thrown: a driver that refuses is an everyday thing. */
export class CallFailure {
  readonly kind: CallFailureKind
  /** Device, call and what the kernel said; fit for people. */
  readonly error: SondeError

  /** @param code Name of the error, such as `EIO`. */
  constructor(device: string, call: string, code: string) {
    this.kind = KINDS[code] ?? 'failed'
    this.error = new SondeError('SRC_CALL', `${device}: ${call} answers ${code}${WORDS[this.kind]}`)
  }
}

const WORDS: Readonly<Record<CallFailureKind, string>> = {
  gone: ', there is no such device',
  unsupported: ', the driver cannot do that',
  denied: ', give the process CAP_NET_ADMIN',
  failed: '',
}
