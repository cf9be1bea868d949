/** Whether a connection failed because the certificate of the other end is not trusted, does not fit, or is too old. */
export function isCertificateFault(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException
  return /CERT|SELF_SIGNED|ALTNAME|^UNABLE_TO/.test(code)
}
