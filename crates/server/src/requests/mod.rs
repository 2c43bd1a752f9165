//! Requests in progress: admission, execution, and the one response to each of them.

mod admission;
mod batch;
mod given_answers;
pub(crate) mod in_flight;
pub(crate) mod open_request;
mod parking;
mod questions;
pub(crate) mod request_state;
pub(crate) mod responder;
mod slot;
mod task_questions;

pub(crate) use admission::{Admission, AdmissionLimits, Place, Resting, Task};
pub(crate) use batch::Batch;
pub(crate) use given_answers::GivenAnswers;
pub(crate) use in_flight::{InFlight, InFlightRequest};
pub(crate) use open_request::Pace;
pub(crate) use parking::{Parked, ParkedStage, Parking, ParkingLimits, PendingQuestion, Resumed, is_answer};
pub(crate) use questions::{Questions, Unanswered};
pub(crate) use request_state::Purpose;
pub use request_state::{KeyFileError, KeyRing};
pub(crate) use request_state::{Origin, RequestState, Round, Subject, Unacceptable};
pub(crate) use responder::Responder;
pub(crate) use slot::{Current, Occupant, Slot};
pub(crate) use task_questions::{AskedOfTask, TaskQuestions};
