mod common;
#[test]
fn try_it() {
    let (host, policy) = (common::fixture::host(), common::builtin_policy());
    for text in std::env::var("TRY").unwrap_or_default().split("@@") {
        let c = gsh::pipeline::check(&common::fixture::request(text), &policy, &host);
        println!("== {text:?}\n{:?} {:?} {}", c.decision.verdict, c.decision.floor, c.decision.reason);
        for i in &c.facts.invocations { println!("  inv {:?} explained={} wrapped={:?}", i.text(), i.explained, i.wrapped_in); }
        for e in &c.facts.effects { println!("  eff by={:?} {:?}", e.by, e.kind); }
        for p in &c.facts.problems { println!("  prob {:?} grave={} exec={} {}", p.problem.cause, p.grave, p.execution, p.problem.detail); }
        for r in &c.decision.requests { println!("  req {:?} {:?} {:?} -> {:?} {:?}", r.request.capability, r.request.subject, r.request.destroys, r.verdict, r.matched.reason); }
    }
}
