import { SondeError } from '../../errors.ts'

/** Labels that only Sonde gives: the simulator says with `simulated` that something is not real. */
const OWN_LABELS: ReadonlySet<string> = new Set(['simulated'])

/** Whether a label is one that applications may not give: neither to a source, nor as a field, nor as an index of a view. */
export function isOwnLabel(name: string): boolean {
  return OWN_LABELS.has(name)
}

/**
 * Sees that no field of a type is a label that only Sonde gives.
 *
 * @throws SondeError `SCH_LABEL_NAME` names the type and the field.
 */
export function checkLabels({
  name,
  labels,
}: {
  readonly name: string
  readonly labels: readonly { readonly name: string }[]
}): void {
  for (const label of labels) {
    if (!isOwnLabel(label.name)) continue
    throw new SondeError(
      'SCH_LABEL_NAME',
      `${name}.${label.name}: the label ${label.name} is Sonde's own; name the field otherwise`,
    )
  }
}
