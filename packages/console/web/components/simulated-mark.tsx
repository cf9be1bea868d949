/** Marks a simulated row. Empty for real rows. */
export function SimulatedMark({ of }: { readonly of: { readonly simulated: boolean } }) {
  return of.simulated ? <span className="badge is-simulated">simulated</span> : null
}
