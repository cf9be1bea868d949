import { list, pattern } from '@sonde/sdk/config'
import * as v from 'valibot'

/** Entries of one list in values. Kubernetes itself has no lower limit. */
const LIST_MAX = 256

/** Quantity of Kubernetes: `100m`, `256Mi`, `10Gi`. */
export const quantity = () => pattern(/^[0-9]+(\.[0-9]+)?(m|k|[KMGTPE]i?)?$/, 'a quantity such as 100m or 256Mi')

/** Duration as the Prometheus operator takes it; empty: that of the Prometheus. */
export const interval = () =>
  pattern(
    /^(([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?)$/,
    'a duration such as 15s or 1m30s, or empty',
  )

/** Name of an object, or empty. */
export const objectName = () =>
  pattern(/^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$/, 'a name of small letters, digits and -, at most 63, or empty')

/** Name of a port. */
export const portName = () =>
  pattern(/^[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$/, 'a name of small letters, digits and -, at most 15')

/** Absolute path, or empty. */
export const hostPath = () => pattern(/^(\/[^:\s]+)?$/, 'an absolute path without blanks and colons, or empty')

/** Text that may be empty. */
export const anyText = () => v.pipe(v.string('text'), v.maxLength(1024, 'text of at most 1024 characters'))

/** Texts by name, such as labels and annotations. */
export const texts = () => v.record(v.string(), v.string('text by name'), 'text by name')

/** A part of an object of Kubernetes, as its API defines it. */
export const part = (words = 'a block as the API of Kubernetes defines it') => v.record(v.string(), v.unknown(), words)

/** A list of such parts. */
export const parts = (words: string) => list(part(`an entry of ${words}`), LIST_MAX, words)
